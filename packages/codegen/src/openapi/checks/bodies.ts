/** Checks the media types of request bodies: that forms are objects, and that their fields can be written. */
import { didYouMean } from '../../documents.js';
import { type FormMember, hasStyle, isFile, isJsonField, listFormMembers } from '../forms.js';
import { URLENCODED, MULTIPART, parseMediaType } from '../media-types.js';
import {
  child,
  type ContractSources,
  type DocumentNode,
  entries,
  findTextField,
  follow,
  has,
  type ReportDiagnostic,
} from '../nodes.js';
import { readTextValue, typesOf } from '../text-types.js';
import { checkStyle } from './parameters.js';

export function checkBodyContent(sources: ContractSources, body: DocumentNode, report: ReportDiagnostic): void {
  // Only the handler of a deferred body reads it.
  if (has(body, 'x-body')) return;
  for (const [type, media] of entries(child(body, 'content'))) {
    const essence = parseMediaType(type)?.essence ?? type;
    if (essence === URLENCODED || essence === MULTIPART) checkForm(sources, { essence, media }, report);
    else if (has(media, 'encoding')) {
      const message = `"encoding" describes the fields of ${URLENCODED} and ${MULTIPART}, not of ${type}.`;
      report(child(media, 'encoding'), message, 'key');
    } else if (essence.startsWith('multipart/')) {
      report(media, `"${type}" is not supported: use ${MULTIPART}, or x-body: deferred for its bytes.`, 'key');
    } else if (essence.startsWith('text/')) checkText(sources, { type, media }, report);
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

function checkText(
  sources: ContractSources,
  { type, media }: { readonly type: string; readonly media: DocumentNode },
  report: ReportDiagnostic,
): void {
  const schema = has(media, 'schema') ? follow(sources, child(media, 'schema')) : undefined;
  if (schema === undefined || typesOf(schema).every((one) => one === 'string')) return;
  report(
    child(media, 'schema'),
    `Expected the type string for the body ${type}; received ${typesOf(schema).join(', ')}.`,
  );
}

interface Form {
  readonly essence: string;
  readonly media: DocumentNode;
}

function checkForm(sources: ContractSources, { essence, media }: Form, report: ReportDiagnostic): void {
  const schema = follow(sources, child(media, 'schema'));
  const types = schema === undefined ? [] : typesOf(schema);
  if (schema !== undefined && types.some((type) => type !== 'object')) {
    report(child(media, 'schema'), `Expected an object for the form ${essence}; received ${types.join(', ')}.`);
    return;
  }
  const members = listFormMembers(sources, media);
  const names = members.map(({ name }) => name);
  for (const [name, encoding] of entries(child(media, 'encoding'))) {
    if (names.includes(name)) continue;
    report(encoding, `The form has no property "${name}".${didYouMean(name, names)}`, 'key');
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
  if (essence === MULTIPART) {
    for (const field of ['style', 'explode', 'allowReserved'].filter((key) => has(encoding, key))) {
      report(child(encoding, field), `"${field}" is for ${URLENCODED}. A part of ${essence} has a contentType.`, 'key');
    }
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
