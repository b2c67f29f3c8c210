/** Days in the zones of users. The build puts the code of Luxon here, so that production does not install its 5 MB. */
export { DateTime, IANAZone } from 'luxon';
