"""One module a statistic: from scores to estimates."""
