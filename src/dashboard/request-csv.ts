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

/**
 * Formats entries as CSV (RFC 4180) with a header row. Values that a spreadsheet would run as formulas get a leading
 * apostrophe.
 */
export function formatRequestCsv(entries: readonly LoggedRequest[]): string {
  const rows = entries.map(({ rateLimit: quota, ...entry }) => ({
    ...entry,
    rateLimit: quota?.limit,
    rateRemaining: quota?.remaining,
    rateResetsAt: quota?.resetsAt,
    rateCost: quota?.cost,
  }));
  return stringify(rows, {
    header: true,
    columns: COLUMNS,
    record_delimiter: 'windows',
    escape_formulas: true,
    // By default, only values that contain the record delimiter are quoted, not those with a lone CR or LF.
    quoted_match: /[\r\n]/,
  });
}
