/** The reader of CSV. The build puts its code here, so that production does not install its other forms. */
export { parse as parseCsv } from 'csv-parse/sync';
