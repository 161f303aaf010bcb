-- The supplier's own tables: who was set up, and who may be bought from.
--
-- Why apart from the lease's tables: they belong to the supplier's plan and not to the protocol. A team that uses the
-- leases for something else gets none of them. So run_id is no foreign key, and a purge of finished runs leaves these
-- rows alone.
--
-- Why one row per key: a store holds one run per supplier. A second row could only come from a step done twice, and is
-- refused.

CREATE TABLE supplier.setups (
    key           text        NOT NULL,
    legal_name    text        NOT NULL,
    country       text        NOT NULL,
    tax_id        text        NOT NULL,
    iban          text        NOT NULL,
    bic           text        NOT NULL,
    currency      text        NOT NULL,
    email         text        NOT NULL,
    lei           text,
    contact       text,
    categories    text[]      NOT NULL,
    run_id        uuid        NOT NULL,
    fence         bigint      NOT NULL,      -- the claim whose save wrote the row
    registered_at timestamptz NOT NULL,
    CONSTRAINT setups_pkey PRIMARY KEY (key),
    CONSTRAINT setups_run_unique UNIQUE (run_id),
    CONSTRAINT setups_key_length CHECK (char_length(key) BETWEEN 1 AND 200),
    CONSTRAINT setups_legal_name_length CHECK (char_length(legal_name) BETWEEN 1 AND 256),
    CONSTRAINT setups_country_form CHECK (country ~ '^[A-Z]{2}$'),
    CONSTRAINT setups_tax_id_not_empty CHECK (tax_id <> ''),
    CONSTRAINT setups_iban_form CHECK (iban ~ '^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$'),
    CONSTRAINT setups_bic_form CHECK (bic ~ '^[A-Z0-9]{8}([A-Z0-9]{3})?$'),
    CONSTRAINT setups_currency_form CHECK (currency ~ '^[A-Z]{3}$'),
    CONSTRAINT setups_email_not_empty CHECK (email <> ''),
    CONSTRAINT setups_lei_form CHECK (lei ~ '^[A-Z0-9]{18}[0-9]{2}$'),
    CONSTRAINT setups_fence_positive CHECK (fence > 0)
);

CREATE TABLE supplier.purchase_accounts (
    key                text        NOT NULL,
    account            text        NOT NULL,
    currency           text        NOT NULL,
    spending_limit     numeric,              -- in currency; NULL: none was agreed
    payment_terms_days int,                  -- NULL: none were agreed
    run_id             uuid        NOT NULL,
    fence              bigint      NOT NULL, -- the claim whose save wrote the row
    opened_at          timestamptz NOT NULL,
    CONSTRAINT purchase_accounts_pkey PRIMARY KEY (key),
    CONSTRAINT purchase_accounts_run_unique UNIQUE (run_id),
    CONSTRAINT purchase_accounts_account_unique UNIQUE (account),
    CONSTRAINT purchase_accounts_set_up FOREIGN KEY (key) REFERENCES supplier.setups (key),
    CONSTRAINT purchase_accounts_account_form CHECK (account ~ '^PA-[0-9A-F]{16}$'),
    CONSTRAINT purchase_accounts_currency_form CHECK (currency ~ '^[A-Z]{3}$'),
    CONSTRAINT purchase_accounts_limit_not_negative CHECK (spending_limit >= 0),
    CONSTRAINT purchase_accounts_terms_range CHECK (payment_terms_days BETWEEN 0 AND 365),
    CONSTRAINT purchase_accounts_fence_positive CHECK (fence > 0)
);
