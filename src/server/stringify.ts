export type Stringify = (body: unknown) => string;

/**
 * Makes the function that turns answers into JSON. It keeps the text of lists
 * that are frozen, just below the top, for as long as they are: whoever freezes
 * a list means to send it again, as it is.
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
      // What JSON has no word for is left out, as it would be.
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
