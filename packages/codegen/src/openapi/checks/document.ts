/** Checks paths, and the parts of a contract that no operation contains: information, servers, tags, components and prose. */
import { didYouMean } from '../../documents.js';
import { type HttpMethod, METHODS } from '../contract.js';
import { listObjects, type TypedNode } from '../grammar.js';
import {
  child,
  type ContractSources,
  type DocumentNode,
  entries,
  findTextField,
  follow,
  has,
  items,
  parseReference,
  type ReportDiagnostic,
} from '../nodes.js';
import { AmbiguousPaths, findClientOnly, hasQuery, listParameterNames, toRoute, toShape } from '../paths.js';

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

/** Reports a contract of OpenAPI 2.0, in which little else has a meaning here. */
export function checkVersion(root: DocumentNode, report: ReportDiagnostic): void {
  if (!has(root, 'swagger') || has(root, 'openapi')) return;
  const message = '"swagger" is not supported here: convert the document to OpenAPI 3 first.';
  report(child(root, 'swagger'), message, 'key');
}

/** Reports operations that are references, which descriptions in many files have until they are bundled. */
export function checkInlineOperations(root: DocumentNode, report: ReportDiagnostic): void {
  const items = [...entries(child(root, 'paths')), ...entries(child(root, 'webhooks'))];
  const operations = items.flatMap(([, item]) => METHODS.map((method) => child(item, method)));
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
  checkAmbiguity(paths, operations, report);
  checkClientOnly(operations, report);
  for (const operation of operations) checkPathParameters(operation, report);
}

/** Text and parameters, such as `{name}.{ext}`. Two parameters side by side would have no border. */
const IS_SEGMENT = /^(?:[^{}]*|[^{}]*\{[^{}]+\}(?:[^{}]+\{[^{}]+\})*[^{}]*)$/;

function checkForm(path: string, place: DocumentNode, report: ReportDiagnostic): void {
  const segments = toRoute(path).slice(1).split('/');
  if (!path.startsWith('/')) report(place, `Expected a path to start with "/"; received "${path}".`, 'key');
  checkSuffix(path, place, report);
  // Clients remove them from addresses.
  if (/\p{Cc}/u.test(path))
    report(place, `Expected a path without control characters; received ${JSON.stringify(path)}.`, 'key');
  const odd = segments.find((text) => /^\.\.?$/.test(text) || decode(text) === undefined);
  if (odd !== undefined) {
    const expected = 'Expected segments with complete percent-encoding, other than "." and ".."';
    report(place, `${expected}; received "${odd}".`, 'key');
  }
  if (path.length > 1 && toRoute(path).endsWith('/'))
    report.warn(place, `Expected the path not to end with "/"; received "${path}".`, 'key');
  for (const segment of segments.filter((text) => !IS_SEGMENT.test(text))) {
    const expected = 'Expected path parameters as in /{id}/, with text between two of them';
    report(place, `${expected}; received "${segment}".`, 'key');
  }
  const names = listParameterNames(path);
  for (const name of names.filter((text, index) => names.indexOf(text) !== index)) {
    report(place, `The path "${path}" contains the parameter "${name}" twice.`, 'key');
  }
}

/** Published contracts distinguish operations by a fragment, which is never sent, or by a query, which routers do not compare. */
function checkSuffix(path: string, place: DocumentNode, report: ReportDiagnostic): void {
  if (hasQuery(path) && /\?[^#]*[{}]/.test(path))
    report(place, `Expected a path without parameters after "?"; received "${path}". Use query parameters.`, 'key');
  else if (hasQuery(path))
    report.warn(
      place,
      `The router does not compare the query of "${path}", so only clients have its operations.`,
      'key',
    );
  else if (path.includes('#'))
    report.warn(place, `Clients do not send the fragment of "${path}", which only distinguishes operations.`, 'key');
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function checkAmbiguity(
  paths: readonly [path: string, place: DocumentNode][],
  operations: readonly IndexedOperation[],
  report: ReportDiagnostic,
): void {
  const methodsOf = new Map<string, HttpMethod[]>();
  for (const { path, method } of operations) methodsOf.set(path, [...(methodsOf.get(path) ?? []), method]);
  /** The first path of each shape, and the methods of all of them. */
  const known = new Map<string, { readonly path: string; readonly methods: Set<HttpMethod> }>();
  const ambiguous = new AmbiguousPaths();
  for (const [path, place] of paths) {
    if (hasQuery(path)) continue;
    const methods = methodsOf.get(path) ?? [];
    const same = known.get(toShape(path));
    if (same === undefined) {
      known.set(toShape(path), { path, methods: new Set(methods) });
      checkSimilar(ambiguous.add(path), path, place, report);
      continue;
    }
    // Operations with the same method have warnings of their own.
    if (!methods.some((method) => same.methods.has(method))) checkSamePath(same.path, path, place, report);
    for (const method of methods) same.methods.add(method);
  }
}

/** OpenAPI forbids such paths, but the router can distinguish them by their methods, as published contracts expect. */
function checkSamePath(first: string, path: string, place: DocumentNode, report: ReportDiagnostic): void {
  if ([first, path].some((one) => one !== toRoute(one))) return;
  const message = `The paths "${first}" and "${path}" are ambiguous: only their parameter names differ.`;
  report.warn(place, `${message} They are served as one path, as they have different methods.`, 'key');
}

function checkSimilar(similar: string | undefined, path: string, place: DocumentNode, report: ReportDiagnostic): void {
  if (similar === undefined) return;
  const message = `A request may match both "${similar}" and "${path}". The path with text in the first segment that differs is used.`;
  report.warn(place, message, 'key');
}

/** Clients can call operations that the router cannot distinguish; the server has the first of them only. */
function checkClientOnly(operations: readonly IndexedOperation[], report: ReportDiagnostic): void {
  for (const [{ method, path, place }, served] of findClientOnly(operations)) {
    if (served === undefined || hasQuery(path)) continue;
    const message = `The server cannot distinguish ${method} ${path} from ${method} ${served.path}`;
    report.warn(place, `${message}, so only clients have this operation.`, 'key');
  }
}

function checkPathParameters({ path, place, method, parameters }: IndexedOperation, report: ReportDiagnostic): void {
  const names = listParameterNames(path);
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
    if (child(described, 'x-rest').value === true && !toRoute(path).endsWith(`/{${name ?? ''}}`)) {
      report(mention, `x-rest is allowed on the last segment of "${path}" only; "${name ?? ''}" is not the last.`);
    }
  }
}

/** Checks the service's own document. */
export function checkDocument(sources: ContractSources, root: DocumentNode, report: ReportDiagnostic): void {
  if (!has(root, 'paths') && !has(root, 'webhooks')) report(root, 'The contract has no paths.');
  checkLicense(child(root, 'info'), report);
  checkServers(root, report);
  checkTags(root, report);
  checkComponentNames(root, report);
  checkUnused(sources, root, report);
  for (const object of [...sources.values()].flatMap((source) => listObjects(source))) {
    checkProse(object, report);
    checkExampleFields(object, report);
    checkLink(root, object, report);
  }
}

function checkLicense(info: DocumentNode, report: ReportDiagnostic): void {
  const license = child(info, 'license');
  if (!has(info, 'license')) report.warn(info, 'The contract does not say under which license it is.', 'key');
  else if (!has(license, 'identifier') && !has(license, 'url'))
    report.warn(license, 'Expected the license to have an identifier or a url.', 'key');
}

function checkServers(root: DocumentNode, report: ReportDiagnostic): void {
  for (const server of items(child(root, 'servers'))) {
    const url = findTextField(server, 'url') ?? '';
    const variables = child(server, 'variables');
    if (url.length > 1 && url.endsWith('/'))
      report.warn(child(server, 'url'), `Expected the server url not to end with "/"; received "${url}".`);
    for (const [name, variable] of entries(variables)) {
      const values = child(variable, 'enum');
      const known = items(values).map(({ value }) => value);
      if (has(variable, 'enum') && known.length === 0)
        report(values, `Expected the values of the server variable "${name}" to be a list of at least one value.`);
    }
  }
}

function checkTags(root: DocumentNode, report: ReportDiagnostic): void {
  for (const tag of items(child(root, 'tags'))) {
    const name = findTextField(tag, 'name') ?? '';
    if (!has(tag, 'description')) report.warn(tag, `The tag "${name}" has no description.`);
  }
}

function checkComponentNames(root: DocumentNode, report: ReportDiagnostic): void {
  for (const [section, members] of entries(child(root, 'components'))) {
    for (const [name, member] of entries(members)) {
      if (section.startsWith('x-') || /^[A-Za-z0-9._-]+$/.test(name)) continue;
      report(
        member,
        `Expected the name of a component to consist of letters, digits, ".", "_" and "-"; received "${name}".`,
        'key',
      );
    }
  }
}

/** Reports components that the contract does not use. Those of shared documents may serve others. */
function checkUnused(sources: ContractSources, root: DocumentNode, report: ReportDiagnostic): void {
  const used = new Set(
    [...sources.values()]
      .flatMap((source) => listObjects(source))
      .flatMap(({ place }) => {
        const mapped = entries(child(child(place, 'discriminator'), 'mapping')).map(([, target]) =>
          String(target.value),
        );
        return [findTextField(place, '$ref') ?? '', ...mapped].map((text) => parseReference(place.source.file, text));
      })
      .flatMap((reference) =>
        reference === undefined ? [] : `${reference.file} ${reference.section} ${reference.name}`,
      ),
  );
  for (const [section, members] of entries(child(root, 'components'))) {
    if (section === 'securitySchemes' || section.startsWith('x-')) continue;
    for (const [name, member] of entries(members)) {
      if (used.has(`${root.source.file} ${section} ${name}`) || isVariant(member)) continue;
      report.warn(member, `The component "${section}/${name}" is not used.`, 'key');
    }
  }
}

/** Returns whether a schema extends another, which may name it by a discriminator. */
const isVariant = (schema: DocumentNode): boolean => has(schema, 'allOf');

function checkProse({ place }: TypedNode, report: ReportDiagnostic): void {
  for (const key of ['description', 'summary']) {
    const unsafe = /<\s*(?:script|iframe|object|embed)\b|\bjavascript:|\son[a-z]+\s*=\s*["']/i.exec(
      findTextField(place, key) ?? '',
    );
    if (unsafe !== null)
      report.warn(child(place, key), `The ${key} contains "${unsafe[0].trim()}", which pages must not run.`);
  }
}

function checkExampleFields({ place, name }: TypedNode, report: ReportDiagnostic): void {
  if (name === 'example' && !has(place, '$ref')) {
    const [value, external] = [has(place, 'value'), has(place, 'externalValue')];
    if (value && external)
      report.warn(child(place, 'externalValue'), 'Expected either value or externalValue; received both.', 'key');
    if (external) report.warn(child(place, 'externalValue'), 'The example at this address is not checked.');
  }
  if (has(place, 'example') && has(place, 'examples') && name !== 'schema')
    report.warn(child(place, 'example'), 'Expected either example or examples; received both.', 'key');
}

function checkLink(root: DocumentNode, { place, name }: TypedNode, report: ReportDiagnostic): void {
  const id = name === 'link' ? findTextField(place, 'operationId') : undefined;
  if (id === undefined) return;
  const operations = listObjects(root).filter((object) => object.name === 'operation');
  const ids = operations.flatMap((operation) => findTextField(operation.place, 'operationId') ?? []);
  if (!ids.includes(id)) report.warn(child(place, 'operationId'), `No operation "${id}".${didYouMean(id, ids)}`);
}
