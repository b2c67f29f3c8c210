interface Answer<T> {
  readonly data?: T | null;
  readonly errors?: readonly { readonly message: string }[];
}

/**
 * Asks the site's data.
 *
 * @throws Error with the first error's sentence, as each of these pages asks one thing only.
 */
export async function ask<T>(query: string, variables: Readonly<Record<string, unknown>> = {}): Promise<T> {
  const response = await fetch('/graphql', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = (await response.json()) as Answer<T>;
  if (errors?.[0]) throw new Error(errors[0].message);
  if (!data) throw new Error(`The server answered ${response.status} without data.`);
  return data;
}
