import { loadInTime } from '../../api.js';

/** Loads the functions that seal, open and store values on demand, as most visits need none of them. */
export const loadStoredValues = () => loadInTime(import('./stored-values.js'));
