/** The result of one check. */
export interface Finding {
  readonly check: string;
  readonly status: 'fail' | 'ok' | 'warn';
  /** The state in a few words. */
  readonly found: string;
  /** How to fix it. */
  readonly advice?: string;
}

export const ok = (check: string, found: string): Finding => ({ check, status: 'ok', found });

/** Creates the result of a check that passes, but with a loss of security or function. */
export const warn = (check: string, found: string, advice: string): Finding => ({
  check,
  status: 'warn',
  found,
  advice,
});

/** Creates the result of a failed check; the server would not start or not work. */
export const fail = (check: string, found: string, advice: string): Finding => ({
  check,
  status: 'fail',
  found,
  advice,
});
