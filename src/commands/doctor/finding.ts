/** What one look found. */
export interface Finding {
  readonly check: string;
  readonly status: 'fail' | 'ok' | 'warn';
  /** What is so, in a few words. */
  readonly found: string;
  /** What to do about it. */
  readonly advice?: string;
}

export const ok = (check: string, found: string): Finding => ({ check, status: 'ok', found });

/** Works, but not as well or as safely as it could. */
export const warn = (check: string, found: string, advice: string): Finding => ({
  check,
  status: 'warn',
  found,
  advice,
});

/** The server would not start, or not do its work. */
export const fail = (check: string, found: string, advice: string): Finding => ({
  check,
  status: 'fail',
  found,
  advice,
});
