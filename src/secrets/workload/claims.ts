/** The claims of a token that a rule accepts. */

export interface ClaimRule {
  readonly name: string;
  /** The allowed values: `*` matches any characters except `/` and `:`, and `**` matches all characters. */
  readonly patterns: readonly string[];
}

/** Longer values match no pattern. */
const MAX_VALUE_LENGTH = 1_024;

/** Reports whether claims satisfy all rules. A list satisfies a rule if one of its elements does. */
export function matchesClaims(rules: readonly ClaimRule[], claims: Readonly<Record<string, unknown>>): boolean {
  return rules.every(({ name, patterns }) => {
    const claim = Object.hasOwn(claims, name) ? claims[name] : undefined;
    const values = (Array.isArray(claim) ? claim : [claim]).flatMap(toText);
    return values.some((value) => patterns.some((pattern) => matchesClaimPattern(pattern, value)));
  });
}

const toText = (value: unknown): string[] =>
  ['string', 'number', 'boolean'].includes(typeof value) ? [String(value)] : [];

/** Takes time proportional to the product of the lengths, whatever the pattern. */
export function matchesClaimPattern(pattern: string, value: string): boolean {
  if (value.length > MAX_VALUE_LENGTH) return false;
  const parts = pattern.match(/\*\*|[^]/g) ?? [];
  // The parts that the text so far may be followed by; a wildcard may match nothing.
  const skip = (states: Iterable<number>): Set<number> => {
    const all = new Set<number>();
    for (let state of states) {
      all.add(state);
      while (parts[state]?.startsWith('*')) all.add((state += 1));
    }
    return all;
  };
  let states = skip([0]);
  for (const character of value.match(/[^]/g) ?? []) {
    const next: number[] = [];
    for (const state of states) {
      const part = parts[state];
      if (part === character && part !== '*') next.push(state + 1);
      else if (part === '**' || (part === '*' && character !== '/' && character !== ':')) next.push(state);
    }
    states = skip(next);
  }
  return states.has(parts.length);
}

/**
 * Reports whether rules restrict the workloads of a public issuer to those of one owner: a claim has only patterns whose
 * text before the first wildcard contains a `/` or two `:`, as `repo:acme/*` and `system:serviceaccount:shop:*` do.
 */
export function isRestricted(rules: readonly ClaimRule[]): boolean {
  return rules.some(({ patterns }) => patterns.every((pattern) => /\/|:.*:/.test(pattern.replace(/\*.*$/s, ''))));
}
