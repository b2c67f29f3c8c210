/** Paths of contracts: the part that servers see, their parameters, and those that a request may both match. */
import type { Contract, HttpMethod } from './contract.js';

/**
 * Returns the part of a path that a router compares: without a fragment, as in `/files/{id}#copy`, which is never sent,
 * and without a query. Published contracts distinguish operations by them.
 */
export const toRoute = (path: string): string => path.replace(/[?#].*$/su, '');

/** Returns whether a path has a query, which a router does not compare. */
export const hasQuery = (path: string): boolean => /^[^#]*\?/u.test(path);

/** Lists the names of the parameters in a path such as `/items/{id}`. */
export const listParameterNames = (path: string): string[] =>
  [...toRoute(path).matchAll(/\{([^{}]+)\}/g)].map(([, name = '']) => name);

/** Returns the route of a path without the names of its parameters. Requests match the paths of one shape alike. */
export const toShape = (path: string): string => toRoute(path).replace(/\{[^{}]*\}/g, '{}');

interface Route {
  readonly method: HttpMethod;
  readonly path: string;
}

/**
 * Returns the operations that only clients can have, each with the operation that a router finds for their requests. An
 * operation whose path has no query and no fragment takes precedence, then the first one.
 */
export function findClientOnly<T extends Route>(operations: readonly T[]): ReadonlyMap<T, T | undefined> {
  const isPlain = ({ path }: T): boolean => toRoute(path) === path;
  const ordered = [...operations.filter(isPlain), ...operations.filter((one) => !isPlain(one))];
  const served = new Map<string, T>();
  const found = new Map<T, T | undefined>();
  for (const operation of ordered) {
    const key = `${operation.method} ${toShape(operation.path)}`;
    const known = served.get(key);
    if (known !== undefined || hasQuery(operation.path)) found.set(operation, known);
    else served.set(key, operation);
  }
  return found;
}

/** Returns the part of a contract that a server has, with the paths that its router compares. */
export function toServedContract(contract: Contract): Contract {
  const clientOnly = findClientOnly(contract.operations);
  const select = (operations: Contract['operations']): Contract['operations'] =>
    operations.filter((one) => !clientOnly.has(one)).map((one) => ({ ...one, path: toRoute(one.path) }));
  return {
    ...contract,
    operations: select(contract.operations),
    tags: contract.tags.map((tag) => ({ ...tag, operations: select(tag.operations) })),
  };
}

const isVariable = (segment: string): boolean => segment.includes('{');

/** The paths that start with the same segments. Parameters of any name are alike. */
interface Branch {
  /** The position of the first path below. */
  readonly first: number;
  readonly texts: Map<string, Branch>;
  readonly variables: Branch[];
}

const createBranch = (first: number): Branch => ({ first, texts: new Map(), variables: [] });

/**
 * Finds paths that a request may both match although they have as many segments and as many of them with parameters:
 * each has text where the other has a parameter.
 */
export class AmbiguousPaths {
  readonly #paths: string[] = [];
  /** The paths by the numbers of their segments and of their parameters. */
  readonly #branches = new Map<string, Branch>();

  /** Adds a path. Returns the first of the previous ones that a request may match too. */
  add(path: string): string | undefined {
    const segments = toRoute(path).split('/');
    const form = `${segments.length} ${segments.filter(isVariable).length}`;
    const position = this.#paths.push(path) - 1;
    const known = this.#branches.get(form);
    const root = known ?? createBranch(position);
    this.#branches.set(form, root);
    const found = known === undefined ? position : findFirst(known, segments, position);
    let branch = root;
    for (const segment of segments) branch = toNext(branch, segment, position);
    return found === position ? undefined : this.#paths[found];
  }
}

function toNext(branch: Branch, segment: string, position: number): Branch {
  const known = isVariable(segment) ? branch.variables[0] : branch.texts.get(segment);
  if (known !== undefined) return known;
  const created = createBranch(position);
  if (isVariable(segment)) branch.variables.push(created);
  else branch.texts.set(segment, created);
  return created;
}

/** Returns the position of the first path below a branch that matches, or the limit if all of them follow it. */
function findFirst(branch: Branch, [segment, ...rest]: readonly string[], limit: number): number {
  if (branch.first >= limit) return limit;
  if (segment === undefined) return branch.first;
  const text = branch.texts.get(segment);
  const texts = isVariable(segment) ? [...branch.texts.values()] : text === undefined ? [] : [text];
  return [...branch.variables, ...texts].reduce((found, next) => findFirst(next, rest, found), limit);
}
