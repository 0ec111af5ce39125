"""Pages that a reader opens in a browser, in one style. Texts of datasets and judges are data, never markup."""
