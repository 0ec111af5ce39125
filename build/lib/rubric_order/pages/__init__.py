"""Pages that a reader opens in a browser: one style, and texts of datasets and judges as data, never as markup."""
