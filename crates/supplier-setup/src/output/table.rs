//! Tables of text: columns as wide as their widest cell, two spaces between.

/// A table under way.
#[derive(Debug)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
    indent: usize,
}

impl Table {
    /// A table with these headings, each line behind so many spaces.
    pub(crate) fn new(indent: usize, headings: &[&str]) -> Self {
        let headings = headings.iter().map(|heading| (*heading).to_owned()).collect();
        Self { rows: vec![headings], indent }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// The table as lines, without spaces at their ends.
    pub(crate) fn into_text(self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = " ".repeat(self.indent);
            for (cell, width) in row.iter().zip(&widths) {
                line.push_str(cell);
                line.extend(std::iter::repeat_n(' ', width + 2 - cell.chars().count()));
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_by_characters_and_lines_have_no_tail() {
        let mut table = Table::new(2, &["KEY", "STATUS"]);
        table.row(vec!["Müller".into(), "open".into()]);
        table.row(vec!["A".into(), String::new()]);
        assert_eq!(table.into_text(), "  KEY     STATUS\n  Müller  open\n  A\n");
    }
}
