/** The parts of Luxon that are used. The build puts their code here, as the package installs fifty times as much. */
export { DateTime, IANAZone } from 'luxon';
