const DAY_MS = 86_400_000;

/** The latest time that a `Date` can represent; some file systems store later ones. */
const MAX_MS = 8.64e15;

/** The number of days whose text is cached: about 27 years in less than a megabyte. */
const MAX_DAYS = 10_000;

const TWO_DIGITS = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'));

/**
 * Creates a function that formats milliseconds since 1970 like `toISOString`, rounded to milliseconds like Node's
 * `Stats`. It caches the text of each day, which takes a sixth of the time for many files.
 */
export function createIsoTimes(): (ms: number) => string {
  const days = new Map<number, string>();

  function dateOf(day: number): string {
    const known = days.get(day);
    if (known !== undefined) return known;
    if (days.size === MAX_DAYS) days.clear();
    const [date = ''] = new Date(day * DAY_MS).toISOString().split('T');
    days.set(day, date);
    return date;
  }

  return (ms) => {
    const whole = Math.max(-MAX_MS, Math.min(MAX_MS, Math.round(ms)));
    const day = Math.floor(whole / DAY_MS);
    return `${dateOf(day)}T${timeOf(whole - day * DAY_MS)}Z`;
  };
}

function timeOf(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  const clock = `${TWO_DIGITS[Math.floor(minutes / 60)]}:${TWO_DIGITS[minutes % 60]}:${TWO_DIGITS[seconds % 60]}`;
  return `${clock}.${String(ms % 1000).padStart(3, '0')}`;
}
