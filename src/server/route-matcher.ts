import type { HttpMethod, OperationSpec } from './operation.js';
import { tryDecode } from './target.js';

export type RouteMatch =
  | { readonly kind: 'operation'; readonly operation: OperationSpec; readonly params: Readonly<Record<string, string>> }
  /** The path exists, but not with this method. `allow` lists its methods in the syntax of the `Allow` header. */
  | { readonly kind: 'method'; readonly allow: string }
  /** The path has escapes that are incomplete, not UTF-8, or NUL. */
  | { readonly kind: 'malformed' }
  | { readonly kind: 'unknown' };

type Segment =
  { readonly kind: 'static'; readonly text: string } | { readonly kind: 'parameter' | 'rest'; readonly name: string };

/** A path of the contract with its methods. */
interface Route {
  readonly segments: readonly Segment[];
  readonly methods: Map<HttpMethod, OperationSpec>;
}

/**
 * Creates the function that finds the operation for a method and an encoded path.
 *
 * Segments are matched from the left. A static segment takes precedence over a parameter, and a parameter over one that
 * matches the rest of the path. HEAD is matched like GET.
 */
export function createRouteMatcher(operations: readonly OperationSpec[]): (method: string, path: string) => RouteMatch {
  const byPath = groupByPath(operations);
  const routes = [...byPath.values()].sort(bySpecificity);
  const exact = new Map([...byPath].filter(([, { segments }]) => segments.every(({ kind }) => kind === 'static')));
  return (method, path) => {
    const known = exact.get(path);
    if (known !== undefined) return pickMethod(known, method, {});
    if (!path.startsWith('/')) return { kind: 'unknown' };
    const segments = path.slice(1).split('/').map(tryDecode);
    if (!segments.every((segment) => segment !== undefined)) return { kind: 'malformed' };
    for (const route of routes) {
      const params = matchSegments(route.segments, segments);
      if (params !== undefined) return pickMethod(route, method, params);
    }
    return { kind: 'unknown' };
  };
}

function pickMethod({ methods }: Route, method: string, params: Readonly<Record<string, string>>): RouteMatch {
  const name = method === 'HEAD' ? 'get' : method.toLowerCase();
  // Method names are case-sensitive, and Node accepts only those in upper case.
  const operation = methods.get(name as HttpMethod);
  return operation === undefined
    ? { kind: 'method', allow: formatAllow(methods) }
    : { kind: 'operation', operation, params };
}

function formatAllow(methods: ReadonlyMap<HttpMethod, unknown>): string {
  const names = [...methods.keys()].map((method) => method.toUpperCase());
  return [...names, ...(methods.has('get') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
}

function groupByPath(operations: readonly OperationSpec[]): ReadonlyMap<string, Route> {
  const routes = new Map<string, Route>();
  for (const operation of operations) {
    const route = routes.get(operation.path) ?? { segments: toSegments(operation), methods: new Map() };
    routes.set(operation.path, route);
    route.methods.set(operation.method, operation);
  }
  return routes;
}

function toSegments({ path, parameters }: OperationSpec): Segment[] {
  return path
    .slice(1)
    .split('/')
    .map((text) => {
      const name = /^\{(.+)\}$/.exec(text)?.[1];
      if (name === undefined) return { kind: 'static', text };
      const isRest = parameters.some(
        (parameter) => parameter.in === 'path' && parameter.name === name && parameter.rest,
      );
      return { kind: isRest ? 'rest' : 'parameter', name };
    });
}

const RANK: Readonly<Record<Segment['kind'], number>> = { static: 0, parameter: 1, rest: 2 };

function bySpecificity(a: Route, b: Route): number {
  for (const [index, segment] of a.segments.entries()) {
    const other = b.segments[index];
    if (other === undefined) break;
    if (segment.kind !== other.kind) return RANK[segment.kind] - RANK[other.kind];
  }
  return b.segments.length - a.segments.length;
}

function matchSegments(
  route: readonly Segment[],
  path: readonly string[],
): Readonly<Record<string, string>> | undefined {
  const params: Record<string, string> = {};
  for (const [index, segment] of route.entries()) {
    const text = path[index];
    if (text === undefined) return undefined;
    if (segment.kind === 'static') {
      if (segment.text !== text) return undefined;
    } else {
      const value = segment.kind === 'rest' ? path.slice(index).join('/') : text;
      if (value === '') return undefined;
      params[segment.name] = value;
      if (segment.kind === 'rest') return params;
    }
  }
  return path.length === route.length ? params : undefined;
}
