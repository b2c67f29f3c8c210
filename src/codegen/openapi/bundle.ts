import { createHash } from 'node:crypto';
import type { ContractDocument } from './document.js';
import { findComponent, parseReference } from './references.js';
import type { ComponentReference, ContractSources } from './references.js';
import { has, isRecord } from './document-node.js';
import type { DocumentNode, ReportDiagnostic } from './document-node.js';

/**
 * Bundles the documents of a contract into one: components of other documents that it refers to are copied under the
 * same name. Reports different components with the same name.
 */
export function bundle(sources: ContractSources, root: DocumentNode, report: ReportDiagnostic): ContractDocument {
  const bundler = new Bundler(sources, root, report);
  // Structure and references are checked before the result is used.
  return bundler.run() as unknown as ContractDocument;
}

type Components = Record<string, Record<string, unknown>>;

class Bundler {
  readonly #sources: ContractSources;
  readonly #root: DocumentNode;
  readonly #report: ReportDiagnostic;
  readonly #components: Components = {};
  /** `schemas/Error` → the file that declares it. */
  readonly #origins = new Map<string, string>();

  constructor(sources: ContractSources, root: DocumentNode, report: ReportDiagnostic) {
    this.#sources = sources;
    this.#root = root;
    this.#report = report;
  }

  run(): Record<string, unknown> {
    const { file } = this.#root.source;
    const { components, ...rest } = isRecord(this.#root.value) ? this.#root.value : {};
    const document = this.#copy(rest, file) as Record<string, unknown>;
    for (const [section, members] of Object.entries(isRecord(components) ? components : {})) {
      for (const name of Object.keys(isRecord(members) ? members : {})) this.#add({ file, section, name });
    }
    return { ...document, components: this.#components };
  }

  #copy(value: unknown, file: string): unknown {
    if (Array.isArray(value)) return value.map((item) => this.#copy(item, file));
    if (!isRecord(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, part]) => [
        key,
        key === '$ref' && typeof part === 'string' ? this.#refer(part, file) : this.#copy(part, file),
      ]),
    );
  }

  #refer(text: string, file: string): string {
    const reference = parseReference(file, text);
    if (reference === undefined) return text;
    this.#add(reference);
    return `#/components/${reference.section}/${reference.name}`;
  }

  #add(reference: ComponentReference): void {
    const place = findComponent(this.#sources, reference);
    if (place === undefined) return;
    const { target, file } = this.#skipAliases(place, reference);
    const key = `${reference.section}/${reference.name}`;
    const known = this.#origins.get(key);
    if (known === file) return;
    if (known !== undefined) {
      const message = `The component "${key}" is declared in both ${known} and ${file}.`;
      this.#report(place, message, 'key');
      return;
    }
    this.#origins.set(key, file);
    const section = (this.#components[reference.section] ??= {});
    // Reserves the position, so that components are in the order of their first reference.
    section[reference.name] = undefined;
    section[reference.name] = this.#copy(target.value, target.source.file);
  }

  /** Follows aliases such as `session: {$ref: 'common.yaml#/…/session'}` to the component of the same name. */
  #skipAliases(place: DocumentNode, { name, section }: ComponentReference): { target: DocumentNode; file: string } {
    const ref = has(place, '$ref') && isRecord(place.value) ? place.value.$ref : undefined;
    const next = typeof ref === 'string' ? parseReference(place.source.file, ref) : undefined;
    if (next?.name !== name || next.section !== section || next.file === place.source.file) {
      return { target: place, file: place.source.file };
    }
    const target = findComponent(this.#sources, next);
    return target === undefined ? { target: place, file: place.source.file } : this.#skipAliases(target, next);
  }
}

/**
 * Returns an identifier of the contract's rules. Layout, comments, descriptions and examples do not change it, because
 * clients warn of a different revision.
 */
export function toContractRevision(document: ContractDocument): string {
  // 16 hexadecimal digits suffice to distinguish the revisions of one contract.
  return createHash('sha256')
    .update(JSON.stringify(withoutProse(document)))
    .digest('hex')
    .slice(0, 16);
}

const PROSE = ['description', 'summary', 'title', 'example', 'examples'];

/** The members whose own members have names that the contract chooses, such as a property `title`. */
const NAME_MAPS = [
  'properties',
  'patternProperties',
  '$defs',
  'schemas',
  'parameters',
  'headers',
  'responses',
  'requestBodies',
  'securitySchemes',
];

function withoutProse(value: unknown, isNameMap = false): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutProse(item));
  if (!isRecord(value)) return value;
  const members = Object.entries(value).filter(([key]) => isNameMap || !PROSE.includes(key));
  return Object.fromEntries(
    members.map(([key, member]) => [key, withoutProse(member, !isNameMap && NAME_MAPS.includes(key))]),
  );
}
