"""What is searched: snapshots in memory, and adapters to stores that scale out."""
