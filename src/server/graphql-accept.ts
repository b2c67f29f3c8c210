export type GraphqlMediaType = 'application/graphql-response+json' | 'application/json';

/** The response type for each media range. A wildcard means `application/json`, as the specification requires. */
const RANGES: ReadonlyMap<string, GraphqlMediaType> = new Map([
  ['application/graphql-response+json', 'application/graphql-response+json'],
  ['application/json', 'application/json'],
  ['application/*', 'application/json'],
  ['*/*', 'application/json'],
]);

/**
 * Chooses the media type of the response: the accepted type with the highest weight, or the first of equals. Returns
 * `undefined` if no supported type is accepted.
 */
export function chooseMediaType(accept: string | undefined): GraphqlMediaType | undefined {
  const listed = accept === undefined || accept === '' ? undefined : RANGES.get(accept);
  if (listed || accept === undefined || accept.trim() === '') return listed ?? 'application/json';
  let best: { type: GraphqlMediaType; weight: number } | undefined;
  for (const range of accept.toLowerCase().split(',')) {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim());
    const type = RANGES.get(name);
    const weight = weightOf(parameters);
    if (type && weight > (best?.weight ?? 0)) best = { type, weight };
  }
  return best?.type;
}

/** Returns the weight of a media range; 0, which means "not acceptable", for a charset other than UTF-8. */
function weightOf(parameters: readonly string[]): number {
  const find = (name: string) =>
    parameters.find((parameter) => parameter.startsWith(`${name}=`))?.slice(name.length + 1);
  if (!/^"?utf-?8"?$/.test(find('charset') ?? 'utf-8')) return 0;
  const weight = Number(find('q') ?? 1);
  return Number.isNaN(weight) ? 0 : weight;
}
