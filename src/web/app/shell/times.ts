import { signal } from '@preact/signals';

/** The person's own, as saved; empty leaves it to the browser, which may hide where it is. */
export const timezone = signal('');

const options = (): Intl.DateTimeFormatOptions => (timezone.value === '' ? {} : { timeZone: timezone.value });

export const toDay = (time: string): string =>
  new Date(time).toLocaleDateString(undefined, { dateStyle: 'medium', ...options() });

export const toMoment = (time: string): string =>
  new Date(time).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short', ...options() });

/** Of the same day, which goes without saying. */
export const toTime = (moment: number): string =>
  new Date(moment).toLocaleTimeString(undefined, { timeStyle: 'short', ...options() });
