/** Checks security schemes, and the requirements of operations. */
import { didYouMean } from '../../documents.js';
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

/** The fields that each type of scheme needs. */
const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  apiKey: ['name', 'in'],
  http: ['scheme'],
  oauth2: ['flows'],
  openIdConnect: ['openIdConnectUrl'],
};

/** Checks the security schemes of all documents. */
export function checkSecuritySchemes(sources: ContractSources, report: ReportDiagnostic): void {
  for (const root of sources.values()) {
    for (const [, scheme] of entries(child(child(root, 'components'), 'securitySchemes'))) {
      if (!has(scheme, '$ref')) checkScheme(scheme, report);
    }
  }
}

function checkScheme(scheme: DocumentNode, report: ReportDiagnostic): void {
  const type = findTextField(scheme, 'type') ?? '';
  if (type === 'mutualTLS') {
    report(child(scheme, 'type'), '"mutualTLS" is not supported: the server speaks HTTP behind a proxy that ends TLS.');
    return;
  }
  for (const field of (REQUIRED[type] ?? []).filter((name) => !has(scheme, name))) {
    report(scheme, `The required field ${field} is missing in this security scheme of type ${type}.`, 'key');
  }
  const http = findTextField(scheme, 'scheme');
  if (type === 'http' && http !== undefined && !['basic', 'bearer'].includes(http.toLowerCase())) {
    report(
      child(scheme, 'scheme'),
      `Expected the HTTP authentication scheme to be basic or bearer; received "${http}".`,
    );
  }
  const caller = findTextField(scheme, 'x-caller');
  if (caller !== undefined && !/^[a-z][A-Za-z0-9_]*$/.test(caller)) {
    report(child(scheme, 'x-caller'), `Expected x-caller to be a name such as session; received "${caller}".`);
  }
}

/** Checks that the alternatives name schemes of the contract, and scopes that they declare. */
export function checkRequirements(
  { sources, root }: { readonly sources: ContractSources; readonly root: DocumentNode },
  security: DocumentNode,
  report: ReportDiagnostic,
): void {
  const schemes = child(child(root, 'components'), 'securitySchemes');
  const names = entries(schemes).map(([name]) => name);
  for (const [name, roles] of items(security).flatMap(entries)) {
    if (!names.includes(name)) {
      const message = `Expected one of the contract's security schemes; received "${name}".`;
      report(roles, message + didYouMean(name, names), 'key');
      continue;
    }
    const scheme = follow(sources, child(schemes, name));
    const flows = scheme === undefined ? [] : entries(child(scheme, 'flows'));
    if (scheme === undefined || findTextField(scheme, 'type') !== 'oauth2') continue;
    const scopes = flows.flatMap(([, flow]) => entries(child(flow, 'scopes')).map(([scope]) => scope));
    for (const role of items(roles).filter(({ value }) => !scopes.includes(String(value)))) {
      const message = `Expected a scope of the flows of "${name}"; received "${String(role.value)}".`;
      report(role, message + didYouMean(String(role.value), scopes));
    }
  }
}
