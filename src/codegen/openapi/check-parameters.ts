import { follow } from './references.js';
import type { Sources } from './references.js';
import { child, findText, has } from './source.js';
import type { Place, Report } from './source.js';
import type { Survey, SurveyedOperation, SurveyedParameter } from './survey.js';

const SCALARS = ['boolean', 'integer', 'number', 'string'];

/** OpenAPI gives these a meaning elsewhere, and ignores them as parameters. */
const RESERVED_HEADERS = ['accept', 'authorization', 'content-type'];

/** Holds parameters to what can travel in a URL or a header. */
export function checkParameters({ sources, operations }: Survey, report: Report): void {
  const seen = new Set<unknown>();
  for (const operation of operations) {
    checkDuplicates(operation, report);
    for (const parameter of operation.parameters) {
      // A shared parameter is described once and needs saying once.
      if (seen.has(parameter.place.value)) continue;
      seen.add(parameter.place.value);
      checkParameter(sources, parameter, report);
    }
  }
}

function checkDuplicates({ parameters, method, path }: SurveyedOperation, report: Report): void {
  const seen = new Set<string>();
  for (const { name, in: where, mention, isShared } of parameters) {
    // An operation may say anew what its path says for all.
    const key = `${String(isShared)} ${where ?? ''} ${name ?? ''}`;
    if (seen.has(key)) {
      report(mention, `Expected each parameter once; ${method} ${path} has "${name ?? ''}" in ${where ?? ''} twice.`);
    }
    seen.add(key);
  }
}

function checkParameter(sources: Sources, { name = '', in: where, place }: SurveyedParameter, report: Report): void {
  if (where === 'header' && RESERVED_HEADERS.includes(name.toLowerCase())) {
    report(child(place, 'name'), `Expected a header of the contract's own; "${name}" is read by the server itself.`);
  }
  if (has(place, 'x-rest') && where !== 'path') {
    report(
      child(place, 'x-rest'),
      `Expected x-rest on path parameters only; "${name}" is in ${where ?? 'nowhere'}.`,
      'key',
    );
  }
  if (!has(place, 'schema')) return;
  const schema = follow(sources, child(place, 'schema'));
  const type = schema && findText(schema, 'type');
  if (schema === undefined || SCALARS.includes(type ?? '')) return;
  if (type === 'array' && where === 'query') checkItems(sources, schema, report);
  else report(schema, `Expected ${allowed(where)} for the parameter "${name}"; received type ${type ?? 'none'}.`);
}

function checkItems(sources: Sources, schema: Place, report: Report): void {
  const item = has(schema, 'items') ? follow(sources, child(schema, 'items')) : schema;
  if (item === undefined || (item !== schema && SCALARS.includes(findText(item, 'type') ?? ''))) return;
  report(item, `Expected a list of ${SCALARS.join(', ')} values for a query parameter.`);
}

function allowed(where: string | undefined): string {
  return `type ${SCALARS.join(', ')}${where === 'query' ? ', or array' : ''}`;
}
