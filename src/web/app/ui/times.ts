import { signal } from '@preact/signals';

/** The time zone of the user's settings; empty uses that of the browser, which may hide the real one. */
export const timezone = signal('');

const options = (): Intl.DateTimeFormatOptions => (timezone.value === '' ? {} : { timeZone: timezone.value });

export const formatDate = (time: string): string =>
  new Date(time).toLocaleDateString(undefined, { dateStyle: 'medium', ...options() });

export const formatDateTime = (time: string): string =>
  new Date(time).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short', ...options() });

/** Formats a time without its date. */
export const formatTime = (moment: number): string =>
  new Date(moment).toLocaleTimeString(undefined, { timeStyle: 'short', ...options() });
