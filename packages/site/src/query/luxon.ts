/** The part of Luxon that is used. The build puts its code here, in one file of 100 kB; the package has 4.6 MB. */
export { DateTime } from 'luxon';
