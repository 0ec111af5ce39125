"""Statistical methods that do not depend on any one study."""
