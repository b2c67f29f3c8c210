/** The part of Luxon that is used. The build puts its code here, which is a fiftieth of what the package installs. */
export { DateTime } from 'luxon';
