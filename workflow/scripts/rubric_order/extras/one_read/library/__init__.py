"""Public functions of these methods, and rounds of calls for `certify --adaptive`."""
