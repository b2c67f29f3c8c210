import { didYouMean } from '../../documents.js';
import { type HttpMethod, METHODS } from '../contract.js';
import {
  child,
  type ContractSources,
  type DocumentNode,
  entries,
  findTextField,
  follow,
  has,
  items,
  type ReportDiagnostic,
} from '../nodes.js';

/** The operations of a contract with their places, before they are checked. */
export interface OperationIndex {
  readonly sources: ContractSources;
  readonly root: DocumentNode;
  readonly operations: readonly IndexedOperation[];
}

export interface IndexedOperation {
  readonly method: HttpMethod;
  readonly path: string;
  readonly place: DocumentNode;
  /** The parameters of the path, then those of the operation, without broken references. */
  readonly parameters: readonly IndexedParameter[];
}

export interface IndexedParameter {
  readonly name: string | undefined;
  readonly in: string | undefined;
  /** The parameter or reference in the list of the operation or its path. */
  readonly mention: DocumentNode;
  /** The description of the parameter: the mention itself, or the component that it refers to. */
  readonly place: DocumentNode;
  /** Whether the path declares it, for all its operations. */
  readonly isShared: boolean;
}

/** Collects the operations of a contract. */
export function collectOperations(sources: ContractSources, root: DocumentNode): OperationIndex {
  const operations = entries(child(root, 'paths')).flatMap(([path, item]) =>
    METHODS.filter((method) => child(item, method).value !== undefined).map((method) => {
      const place = child(item, method);
      const shared = surveyParameters(sources, item, true);
      return { method, path, place, parameters: [...shared, ...surveyParameters(sources, place, false)] };
    }),
  );
  return { sources, root, operations };
}

/** Reports operations that are references, which descriptions in many files have until they are bundled. */
export function checkInlineOperations(root: DocumentNode, report: ReportDiagnostic): void {
  const operations = entries(child(root, 'paths')).flatMap(([, item]) => METHODS.map((method) => child(item, method)));
  const [first, ...others] = operations.filter((place) => has(place, '$ref'));
  if (first === undefined) return;
  const count = others.length === 0 ? '' : ` ${others.length + 1} operations are references.`;
  const message = 'An operation cannot be a $ref; in OpenAPI only a path can. Bundle the documents first, such as with';
  report(child(first, '$ref'), `${message} "npx @redocly/cli bundle".${count}`);
}

function surveyParameters(sources: ContractSources, parent: DocumentNode, isShared: boolean): IndexedParameter[] {
  return items(child(parent, 'parameters')).flatMap((mention) => {
    const place = follow(sources, mention);
    if (place === undefined) return [];
    return [{ name: findTextField(place, 'name'), in: findTextField(place, 'in'), mention, place, isShared }];
  });
}

/** Checks the form of paths and their parameters, and that the router can distinguish them. */
export function checkPaths({ root, operations }: OperationIndex, report: ReportDiagnostic): void {
  const paths = entries(child(root, 'paths'));
  for (const [path, place] of paths) checkForm(path, place, report);
  checkAmbiguity(paths, report);
  for (const operation of operations) checkPathParameters(operation, report);
}

/** Text and parameters, such as `{name}.{ext}`. Two parameters side by side would have no border. */
const IS_SEGMENT = /^(?:[^{}]*|[^{}]*\{[^{}]+\}(?:[^{}]+\{[^{}]+\})*[^{}]*)$/;

function checkForm(path: string, place: DocumentNode, report: ReportDiagnostic): void {
  const segments = path.slice(1).split('/');
  if (!path.startsWith('/')) report(place, `Expected a path to start with "/"; received "${path}".`, 'key');
  if (/[?#]/.test(path)) report(place, `Expected a path without "?" and "#"; received "${path}".`, 'key');
  const odd = segments.find((text) => /^\.\.?$/.test(text) || decode(text) === undefined);
  if (odd !== undefined) {
    const expected = 'Expected segments with complete percent-encoding, other than "." and ".."';
    report(place, `${expected}; received "${odd}".`, 'key');
  }
  if (path.length > 1 && path.endsWith('/'))
    report.warn(place, `Expected the path not to end with "/"; received "${path}".`, 'key');
  for (const segment of segments.filter((text) => !IS_SEGMENT.test(text))) {
    const expected = 'Expected path parameters as in /{id}/, with text between two of them';
    report(place, `${expected}; received "${segment}".`, 'key');
  }
  const names = listNames(path);
  for (const name of names.filter((text, index) => names.indexOf(text) !== index)) {
    report(place, `The path "${path}" contains the parameter "${name}" twice.`, 'key');
  }
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function checkAmbiguity(paths: readonly [path: string, place: DocumentNode][], report: ReportDiagnostic): void {
  const known = new Map<string, string>();
  /** The paths with as many segments and as many of them with parameters. */
  const alike = new Map<string, string[]>();
  for (const [path, place] of paths) {
    const shape = path.replace(/\{[^{}]*\}/g, '{}');
    const other = known.get(shape);
    known.set(shape, other ?? path);
    if (other !== undefined) {
      report(place, `The paths "${other}" and "${path}" are ambiguous: only their parameter names differ.`, 'key');
      continue;
    }
    const segments = path.split('/');
    const form = `${segments.length} ${segments.filter(isVariable).length}`;
    const others = alike.get(form) ?? [];
    alike.set(form, [...others, path]);
    const similar = others.find((text) => areAmbiguous(text, path));
    if (similar === undefined) continue;
    const message = `A request may match both "${similar}" and "${path}". The path with text in the first segment that differs is used.`;
    report.warn(place, message, 'key');
  }
}

const isVariable = (segment: string): boolean => segment.includes('{');

/** Returns whether each of two paths with as many parameters has text where the other has a parameter. */
function areAmbiguous(one: string, other: string): boolean {
  const right = other.split('/');
  return one
    .split('/')
    .every((segment, index) => segment === right[index] || isVariable(segment) || isVariable(right[index] ?? ''));
}

function checkPathParameters({ path, place, method, parameters }: IndexedOperation, report: ReportDiagnostic): void {
  const names = listNames(path);
  const declared = parameters.filter((parameter) => parameter.in === 'path');
  for (const name of names.filter((text) => !declared.some((parameter) => parameter.name === text))) {
    const others = declared.flatMap((parameter) => parameter.name ?? []).filter((text) => !names.includes(text));
    const message = `${method} ${path} does not declare the path parameter "${name}".`;
    report(place, message + didYouMean(name, others), 'key');
  }
  for (const { name, mention, place: described } of declared) {
    if (name !== undefined && !names.includes(name)) {
      report(mention, `The path "${path}" has no segment "{${name}}".${didYouMean(name, names)}`);
    }
    if (child(described, 'required').value !== true) {
      report(described, `Expected required: true for the path parameter "${name ?? ''}".`);
    }
    if (child(described, 'x-rest').value === true && !path.endsWith(`/{${name ?? ''}}`)) {
      report(mention, `x-rest is allowed on the last segment of "${path}" only; "${name ?? ''}" is not the last.`);
    }
  }
}

function listNames(path: string): string[] {
  return [...path.matchAll(/\{([^{}]+)\}/g)].map(([, name = '']) => name);
}
