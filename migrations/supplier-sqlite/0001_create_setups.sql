-- The supplier's own tables: who was set up, and who may be bought from. One row per key: a store holds one run per
-- supplier, and a second row could only come from a step done twice, so it is refused. run_id is no foreign key: a purge of
-- finished runs leaves these rows alone.

CREATE TABLE supplier_setups (
    key           TEXT    NOT NULL PRIMARY KEY CHECK (length(key) BETWEEN 1 AND 200),
    legal_name    TEXT    NOT NULL CHECK (length(legal_name) BETWEEN 1 AND 256),
    country       TEXT    NOT NULL CHECK (country GLOB '[A-Z][A-Z]'),
    tax_id        TEXT    NOT NULL CHECK (tax_id <> ''),
    iban          TEXT    NOT NULL CHECK (length(iban) BETWEEN 15 AND 34 AND iban GLOB '[A-Z][A-Z][0-9][0-9]*'),
    bic           TEXT    NOT NULL CHECK (length(bic) IN (8, 11)),
    currency      TEXT    NOT NULL CHECK (currency GLOB '[A-Z][A-Z][A-Z]'),
    email         TEXT    NOT NULL CHECK (email <> ''),
    lei           TEXT    CHECK (length(lei) = 20),
    contact       TEXT,
    categories    TEXT    NOT NULL CHECK (json_type(categories) = 'array'),
    run_id        TEXT    NOT NULL UNIQUE,
    fence         INTEGER NOT NULL CHECK (fence > 0),     -- the claim whose save wrote the row
    registered_us INTEGER NOT NULL                        -- microseconds since 1970
) STRICT;

CREATE TABLE supplier_purchase_accounts (
    key                TEXT    NOT NULL PRIMARY KEY REFERENCES supplier_setups (key),
    account            TEXT    NOT NULL UNIQUE CHECK (length(account) = 19 AND account GLOB 'PA-*'),
    currency           TEXT    NOT NULL CHECK (currency GLOB '[A-Z][A-Z][A-Z]'),
    spending_limit     TEXT    CHECK (spending_limit NOT GLOB '-*'),   -- a decimal in currency; NULL: none was agreed
    payment_terms_days INTEGER CHECK (payment_terms_days BETWEEN 0 AND 365),
    run_id             TEXT    NOT NULL UNIQUE,
    fence              INTEGER NOT NULL CHECK (fence > 0),
    opened_us          INTEGER NOT NULL
) STRICT;
