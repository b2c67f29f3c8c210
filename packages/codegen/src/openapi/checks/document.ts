/** Checks the parts of a contract that no operation contains: information, servers, tags, components and prose. */
import { didYouMean } from '../../documents.js';
import {
  child,
  type ContractSources,
  type DocumentNode,
  entries,
  findTextField,
  has,
  items,
  parseReference,
  type ReportDiagnostic,
} from '../nodes.js';
import { listObjects, type TypedNode } from '../walk.js';

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
    const known = entries(variables).map(([name]) => name);
    const used = [...url.matchAll(/\{([^{}]*)\}/g)].map(([, name = '']) => name);
    for (const name of used.filter((text) => !known.includes(text)))
      report(child(server, 'url'), `The server variable "${name}" is not declared.${didYouMean(name, known)}`);
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
      report(child(place, 'externalValue'), 'Expected either value or externalValue; received both.', 'key');
    if (external) report.warn(child(place, 'externalValue'), 'The example at this address is not checked.');
  }
  if (has(place, 'example') && has(place, 'examples') && name !== 'schema')
    report(child(place, 'example'), 'Expected either example or examples; received both.', 'key');
}

function checkLink(root: DocumentNode, { place, name }: TypedNode, report: ReportDiagnostic): void {
  const id = name === 'link' ? findTextField(place, 'operationId') : undefined;
  if (id === undefined) return;
  const operations = listObjects(root).filter((object) => object.name === 'operation');
  const ids = operations.flatMap((operation) => findTextField(operation.place, 'operationId') ?? []);
  if (!ids.includes(id)) report(child(place, 'operationId'), `No operation "${id}".${didYouMean(id, ids)}`);
}
