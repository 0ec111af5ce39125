"""Statistical methods that do not depend on a study."""
