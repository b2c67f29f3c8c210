import { follow } from './references.js';
import type { ContractSources } from './references.js';
import { child, findTextField, has } from './document-node.js';
import type { DocumentNode, ReportDiagnostic } from './document-node.js';
import type { OperationIndex, IndexedOperation, IndexedParameter } from './operation-index.js';

const SCALARS = ['boolean', 'integer', 'number', 'string'];

/** OpenAPI ignores parameters with these names, as other parts of a document describe them. */
const RESERVED_HEADERS = ['accept', 'authorization', 'content-type'];

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
    const key = `${String(isShared)} ${where ?? ''} ${name ?? ''}`;
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
  if (where === 'header' && RESERVED_HEADERS.includes(name.toLowerCase())) {
    report(child(place, 'name'), `The header "${name}" is reserved for the server and cannot be a parameter.`);
  }
  if (has(place, 'x-rest') && where !== 'path') {
    report(
      child(place, 'x-rest'),
      `x-rest is allowed on path parameters only; "${name}" is in ${where ?? 'nowhere'}.`,
      'key',
    );
  }
  if (!has(place, 'schema')) return;
  const schema = follow(sources, child(place, 'schema'));
  const type = schema && findTextField(schema, 'type');
  if (schema === undefined || SCALARS.includes(type ?? '')) return;
  if (type === 'array' && where === 'query') checkItems(sources, schema, report);
  else report(schema, `Expected ${allowed(where)} for the parameter "${name}"; received type ${type ?? 'none'}.`);
}

function checkItems(sources: ContractSources, schema: DocumentNode, report: ReportDiagnostic): void {
  const item = has(schema, 'items') ? follow(sources, child(schema, 'items')) : schema;
  if (item === undefined || (item !== schema && SCALARS.includes(findTextField(item, 'type') ?? ''))) return;
  report(item, `Expected a list of ${SCALARS.join(', ')} values for a query parameter.`);
}

function allowed(where: string | undefined): string {
  return `type ${SCALARS.join(', ')}${where === 'query' ? ', or array' : ''}`;
}
