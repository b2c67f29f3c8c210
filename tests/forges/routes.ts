import type { TestResponse, RecordedRequest } from './forge-server.js';

/** A route. The method `*` matches any method. The groups of the path are an id and the remaining path. */
export type Route<Found> = readonly [method: string, path: RegExp, answer: (found: Found) => TestResponse];

export interface Matched {
  readonly id: string;
  readonly rest: string;
}

/** Returns the response of the first matching route, or `undefined` without a match. */
export function handleRoute<Found>(
  routes: readonly Route<Found>[],
  { method, path }: Pick<RecordedRequest, 'method' | 'path'>,
  find: (matched: Matched) => Found,
): TestResponse | undefined {
  for (const [wanted, pattern, answer] of routes) {
    const [matched, id = '', rest = ''] = pattern.exec(path) ?? [];
    if (matched !== undefined && (wanted === '*' || wanted === method)) return answer(find({ id, rest }));
  }
  return undefined;
}
