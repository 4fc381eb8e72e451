"""Thin typed readers of FHIR R4: from JSON as written to facts with a canonical line."""
