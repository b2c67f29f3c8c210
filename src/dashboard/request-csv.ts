import { stringify } from 'csv-stringify/sync';
import type { LoggedRequest } from './request-log.js';

const COLUMNS = [
  'loggedAt',
  'forge',
  'method',
  'endpoint',
  'outcome',
  'account',
  'statusCode',
  'rateLimit',
  'rateRemaining',
  'rateResetsAt',
  'rateCost',
];

/** Writes entries as CSV (RFC 4180) under a row of names. A text that a spreadsheet would calculate gets an apostrophe. */
export function formatCsv(entries: readonly LoggedRequest[]): string {
  const rows = entries.map(({ rateLimit: budget, ...entry }) => ({
    ...entry,
    rateLimit: budget?.limit,
    rateRemaining: budget?.remaining,
    rateResetsAt: budget?.resetsAt,
    rateCost: budget?.cost,
  }));
  return stringify(rows, {
    header: true,
    columns: COLUMNS,
    record_delimiter: 'windows',
    escape_formulas: true,
    // By itself it knows the record's delimiter alone as a line break.
    quoted_match: /[\r\n]/,
  });
}
