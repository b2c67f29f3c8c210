import type { ObjectMetadata } from './secrets.js';

export interface SecretFilter {
  readonly text: string;
  readonly tag: string;
  readonly consumer: string;
  readonly state: '' | 'due' | 'reseal' | 'unused';
}

export const NO_SECRET_FILTER: SecretFilter = { text: '', tag: '', consumer: '', state: '' };

export const SECRET_STATES: readonly (readonly [SecretFilter['state'], string])[] = [
  ['', 'All'],
  ['due', 'Due for rotation'],
  ['reseal', 'Needs re-encryption'],
  ['unused', 'Without consumers'],
];

const HAS_STATE: Readonly<Record<SecretFilter['state'], (object: ObjectMetadata) => boolean>> = {
  '': () => true,
  due: ({ rotation_due }) => rotation_due === true,
  reseal: ({ reseal }) => reseal !== undefined,
  unused: ({ used_by = [] }) => used_by.length === 0,
};

export function matchesSecretFilter(object: ObjectMetadata, { text, tag, consumer, state }: SecretFilter): boolean {
  const searched = text.trim().toLowerCase();
  return (
    (searched === '' ||
      [object.slug, object.description ?? ''].some((part) => part.toLowerCase().includes(searched))) &&
    (tag === '' || object.tags.includes(tag)) &&
    (consumer === '' || (object.used_by ?? []).includes(consumer)) &&
    HAS_STATE[state](object)
  );
}

/** Returns the options of a filter in alphabetical order. The chosen value stays an option when no secret has it. */
export const toFilterOptions = (values: readonly string[], chosen: string): readonly (readonly [string, string])[] => [
  ['', 'All'],
  ...[...new Set(chosen === '' ? values : [...values, chosen])]
    .sort((a, b) => a.localeCompare(b))
    .map((value) => [value, value] as const),
];
