"""Open standards: Open Referral HSDS 3, schema.org GovernmentService and CPSV-AP.

Files of these become entries of the draft; the current release is published as JSON-LD. The tables
of what becomes what are in docs/standards.md.
"""
