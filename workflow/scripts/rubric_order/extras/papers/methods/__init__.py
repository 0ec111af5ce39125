"""Statistical methods of replications."""
