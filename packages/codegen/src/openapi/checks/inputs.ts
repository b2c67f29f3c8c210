/** Checks the inputs of operations: parameters, the media types of bodies, and the fields of forms. */
import { didYouMean } from '../../documents.js';
import {
  DEFAULT_MAX_BYTES,
  findJsonType,
  findLimit,
  type FormMember,
  hasStyle,
  isFile,
  isJsonField,
  listFormMembers,
  MULTIPART,
  parseMediaType,
  readTextValue,
  type TextValue,
  URLENCODED,
} from '../forms.js';
import {
  child,
  type ContractSources,
  type DocumentNode,
  entries,
  findTextField,
  has,
  type ReportDiagnostic,
  UNSAFE_NAME,
} from '../nodes.js';
import type { IndexedOperation, IndexedParameter, OperationIndex } from './document.js';
import { isInherited, noDefault } from './schemas.js';

/** Checks that parameters are unique and have types that a URL or a header can carry. */
export function checkParameters({ sources, operations }: OperationIndex, report: ReportDiagnostic): void {
  const seen = new Set<unknown>();
  for (const operation of operations) {
    checkDuplicates(operation, report);
    for (const parameter of operation.parameters) {
      // A shared parameter is described, and therefore reported, once.
      if (seen.has(parameter.place.value)) continue;
      seen.add(parameter.place.value);
      checkParameter(sources, parameter, report);
    }
  }
}

function checkDuplicates({ parameters, method, path }: IndexedOperation, report: ReportDiagnostic): void {
  const seen = new Set<string>();
  for (const { name, in: where, mention, isShared } of parameters) {
    // An operation may override a parameter of its path.
    const own = where === 'header' ? name?.toLowerCase() : name;
    const key = `${String(isShared)} ${where ?? ''} ${own ?? ''}`;
    if (seen.has(key)) {
      report(mention, `${method} ${path} declares the ${where ?? ''} parameter "${name ?? ''}" twice.`);
    }
    seen.add(key);
  }
}

function checkParameter(
  sources: ContractSources,
  { name = '', in: where, place }: IndexedParameter,
  report: ReportDiagnostic,
): void {
  if ((where === 'cookie' || where === 'header') && !/^[\w!#$%&'*+.^`|~-]+$/.test(name)) {
    report(child(place, 'name'), `"${name}" cannot be the name of a ${where}.`);
  }
  if (name === UNSAFE_NAME) report(child(place, 'name'), `The name "${name}" is reserved by JavaScript.`);
  const value = child(child(place, 'schema'), 'default');
  if (isInherited(name) && value.value !== undefined) report(value, noDefault(name), 'key');
  if (has(place, 'x-rest') && where !== 'path') {
    report(
      child(place, 'x-rest'),
      `x-rest is allowed on path parameters only; "${name}" is in ${where ?? 'nowhere'}.`,
      'key',
    );
  }
  if (has(place, 'content')) checkContent(place, report);
  else if (has(place, 'schema')) checkSchema(sources, { name, in: where, place }, report);
  else report(place, 'The required field schema is missing in this parameter.', 'key');
  if (child(place, 'allowEmptyValue').value === true && where !== 'query') {
    report(child(place, 'allowEmptyValue'), `allowEmptyValue is allowed on query parameters only.`, 'key');
  }
}

/** The text of a parameter with `content` is JSON. Other media types have no text in URLs and headers. */
function checkContent(place: DocumentNode, report: ReportDiagnostic): void {
  const content = child(place, 'content');
  const [[type, media] = [], ...others] = entries(content);
  if (has(place, 'schema')) report(content, 'A parameter has either schema or content; received both.', 'key');
  if (type === undefined || media === undefined || others.length > 0 || findJsonType(type) === undefined) {
    report(content, 'Expected application/json as the only content of a parameter.', 'key');
  } else if (!has(media, 'schema')) {
    report(media, 'The required field schema is missing in this media type.', 'key');
  }
  for (const field of ['style', 'explode', 'allowReserved'].filter((name) => has(place, name))) {
    report(child(place, field), `"${field}" is not allowed beside content, which determines the text.`, 'key');
  }
}

/** The styles of each place; the first is the default. */
const PLACE_STYLES = new Map([
  ['cookie', ['form']],
  ['header', ['simple']],
  ['path', ['simple']],
  ['query', ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject']],
]);

type Described = Pick<IndexedParameter, 'in' | 'name' | 'place'>;

function checkSchema(
  sources: ContractSources,
  { name = '', in: where = '', place }: Described,
  report: ReportDiagnostic,
): void {
  const value = readTextValue(sources, child(place, 'schema'), (part, expected) =>
    report(
      part,
      `Expected ${expected} for the parameter "${name}". Use content with application/json for other values.`,
    ),
  );
  const styles = PLACE_STYLES.get(where);
  // An unknown place has an error of its own.
  if (styles === undefined) return;
  const style = findTextField(place, 'style') ?? styles[0] ?? '';
  if (!styles.includes(style)) {
    const expected = `Expected the style of a ${where} parameter to be ${styles.join(', ')}`;
    report(child(place, 'style'), `${expected}; received "${style}".`);
    return;
  }
  checkStyle({ place, where, style, value }, report);
}

interface Styled {
  readonly place: DocumentNode;
  readonly where?: string;
  readonly style: string;
  readonly value: TextValue;
}

/** Reports combinations of a style, `explode` and a type that the specification leaves undefined. */
function checkStyle({ place, where = 'query', style, value }: Styled, report: ReportDiagnostic): void {
  const isScalar = value.list === false && value.properties === undefined;
  const explodes = has(place, 'explode') ? child(place, 'explode').value === true : style === 'form';
  const at = has(place, 'style') ? child(place, 'style') : place;
  if (style === 'deepObject' && value.properties === undefined) {
    report(at, 'Expected an object for the style deepObject.');
  } else if (style.endsWith('Delimited') && (isScalar || explodes)) {
    report(at, `Expected a list or an object with explode: false for the style ${style}.`);
  } else if (where === 'cookie' && !isScalar && explodes) {
    report(place, 'Expected explode: false for a list or an object in a cookie, which has one value.', 'key');
  } else if (style !== 'deepObject' && !(style === 'form' && explodes) && hasLists(value)) {
    report(at, `Expected scalar properties for an object of the style ${style}.`);
  }
}

function hasLists({ properties = {}, others }: TextValue): boolean {
  return [...Object.values(properties), ...(others === undefined ? [] : [others])].some(({ list }) => list !== false);
}

/** Checks the media types of a request body: that forms are objects, and that their fields can be written. */
export function checkBodyContent(sources: ContractSources, body: DocumentNode, report: ReportDiagnostic): void {
  // Only the handler of a deferred body reads it.
  if (has(body, 'x-body')) return;
  for (const [type, media] of entries(child(body, 'content'))) {
    const essence = parseMediaType(type)?.essence ?? type;
    checkLimits(sources, { body, essence, media }, report);
    if (essence === URLENCODED || essence === MULTIPART) checkForm(sources, { essence, media }, report);
    else if (has(media, 'encoding')) {
      const message = `"encoding" describes the fields of ${URLENCODED} and ${MULTIPART}, not of ${type}.`;
      report(child(media, 'encoding'), message, 'key');
    } else if (essence.startsWith('multipart/')) {
      report.warn(media, `"${type}" is sent and received as bytes, as only ${MULTIPART} is a form.`, 'key');
    }
  }
}

/** Reports the limits of texts, bytes and files that the limit of the whole body never lets them reach. */
function checkLimits(
  sources: ContractSources,
  { body, essence, media }: Form & { readonly body: DocumentNode },
  report: ReportDiagnostic,
): void {
  if (essence === URLENCODED || findJsonType(essence) !== undefined) return;
  const { value: maxBytes = DEFAULT_MAX_BYTES } = child(body, 'x-max-bytes');
  const parts =
    essence === MULTIPART
      ? listFormMembers(sources, media).filter((member) => isFile(sources, member))
      : [{ schema: child(media, 'schema') }];
  for (const part of parts) {
    const limit = findLimit(sources, part);
    if (limit === undefined || Number(limit.value) <= Number(maxBytes)) continue;
    const message = `The limit of the whole body is ${String(maxBytes)} bytes. Set x-max-bytes of the request body.`;
    report.warn(limit, message, 'key');
  }
}

/** Returns whether a body has files, which its handler reads. */
export function hasFiles(sources: ContractSources, body: DocumentNode): boolean {
  return entries(child(body, 'content')).some(
    ([type, media]) =>
      parseMediaType(type)?.essence === MULTIPART &&
      listFormMembers(sources, media).some((member) => isFile(sources, member)),
  );
}

interface Form {
  readonly essence: string;
  readonly media: DocumentNode;
}

function checkForm(sources: ContractSources, { essence, media }: Form, report: ReportDiagnostic): void {
  const members = listFormMembers(sources, media);
  const names = members.map(({ name }) => name);
  for (const [name, encoding] of entries(child(media, 'encoding'))) {
    if (names.includes(name)) continue;
    report.warn(encoding, `The form has no property "${name}".${didYouMean(name, names)}`, 'key');
  }
  for (const member of members) checkMember(sources, { essence, member }, report);
}

function checkMember(
  sources: ContractSources,
  { essence, member }: { readonly essence: string; readonly member: FormMember },
  report: ReportDiagnostic,
): void {
  const { name, schema, encoding } = member;
  const isReceivedFile = essence === MULTIPART && isFile(sources, member);
  const limited = [encoding, schema].find((place) => has(place, 'x-max-bytes'));
  if (limited !== undefined && !isReceivedFile) {
    report(child(limited, 'x-max-bytes'), `x-max-bytes limits files, and "${name}" is a field. Use maxLength.`, 'key');
  }
  if (isReceivedFile || isJsonField(sources, member)) return;
  const value = readTextValue(sources, schema, (place, expected) =>
    report(
      place,
      `Expected ${expected} for the field "${name}". Use the contentType application/json for other values.`,
    ),
  );
  if (essence === MULTIPART) return;
  const style = findTextField(encoding, 'style') ?? 'form';
  if (!['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'].includes(style)) {
    const expected = 'Expected the style of a field to be form, spaceDelimited, pipeDelimited or deepObject';
    report(child(encoding, 'style'), `${expected}; received "${style}".`);
  } else if (hasStyle(encoding)) {
    checkStyle({ place: encoding, style, value }, report);
  }
}
