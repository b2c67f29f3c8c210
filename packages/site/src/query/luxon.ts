/** Dates with zones and formats. The build puts the code of Luxon here, so that production does not install its 5 MB. */
export { DateTime } from 'luxon';
