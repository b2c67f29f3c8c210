/** The writer of CSV. The build puts its code here, so that production does not install its other forms. */
export { stringify } from 'csv-stringify/sync';
