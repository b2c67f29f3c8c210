/** The result of one check. */
export interface CheckResult {
  readonly check: string;
  readonly status: 'fail' | 'ok' | 'warn';
  /** The state in a few words. */
  readonly found: string;
  /** How to fix it. */
  readonly advice?: string;
}

export const passed = (check: string, found: string): CheckResult => ({ check, status: 'ok', found });

/** Creates the result of a check that passes, but with a loss of security or function. */
export const warning = (check: string, found: string, advice: string): CheckResult => ({
  check,
  status: 'warn',
  found,
  advice,
});

/** Creates the result of a failed check; the server would not start or not work. */
export const failed = (check: string, found: string, advice: string): CheckResult => ({
  check,
  status: 'fail',
  found,
  advice,
});
