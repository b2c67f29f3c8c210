export type Stringify = (body: unknown) => string;

/**
 * Creates the function that serializes response bodies as JSON. The text of a frozen list directly below the top level
 * is cached as long as the list exists, because freezing means that the same list will be sent again.
 */
export function createStringify(): Stringify {
  const texts = new WeakMap<readonly unknown[], string>();
  const textOf = (list: readonly unknown[]): string => {
    const known = texts.get(list);
    if (known !== undefined) return known;
    const text = JSON.stringify(list);
    texts.set(list, text);
    return text;
  };

  return (body) => {
    if (!hasFrozenList(body)) return JSON.stringify(body);
    const parts: string[] = [];
    for (const [name, value] of Object.entries(body)) {
      // Like JSON.stringify(), skips values that JSON can't represent, such as undefined.
      const text = isFrozenList(value) ? textOf(value) : (JSON.stringify(value) as string | undefined);
      if (text !== undefined) parts.push(`${JSON.stringify(name)}:${text}`);
    }
    return `{${parts.join(',')}}`;
  };
}

function hasFrozenList(body: unknown): body is object {
  const isPlain = typeof body === 'object' && body !== null && !Array.isArray(body) && !('toJSON' in body);
  return isPlain && Object.values(body).some(isFrozenList);
}

const isFrozenList = (value: unknown): value is readonly unknown[] => Array.isArray(value) && Object.isFrozen(value);
