export type GraphqlMediaType = 'application/graphql-response+json' | 'application/json';

/** The ranges that each media type answers; `application/json` stands in for "anything", as the specification asks. */
const RANGES: ReadonlyMap<string, GraphqlMediaType> = new Map([
  ['application/graphql-response+json', 'application/graphql-response+json'],
  ['application/json', 'application/json'],
  ['application/*', 'application/json'],
  ['*/*', 'application/json'],
]);

/**
 * The media type to answer in: of the ranges that fit, the one of the highest
 * weight, and of equals the first. `undefined` when none fits.
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

/** Zero, which means "not acceptable", for a charset that we do not write. */
function weightOf(parameters: readonly string[]): number {
  const find = (name: string) =>
    parameters.find((parameter) => parameter.startsWith(`${name}=`))?.slice(name.length + 1);
  if (!/^"?utf-?8"?$/.test(find('charset') ?? 'utf-8')) return 0;
  const weight = Number(find('q') ?? 1);
  return Number.isNaN(weight) ? 0 : weight;
}
