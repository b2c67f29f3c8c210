/** The parts of Luxon that are used. The build puts their code here, in one file of 100 kB; the package has 4.6 MB. */
export { DateTime, IANAZone } from 'luxon';
