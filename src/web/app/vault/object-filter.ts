import type { ObjectMetadata } from './objects.js';

export interface ObjectFilter {
  readonly text: string;
  readonly tag: string;
  readonly consumer: string;
  readonly state: '' | 'due' | 'reseal' | 'unused';
}

export const NO_FILTER: ObjectFilter = { text: '', tag: '', consumer: '', state: '' };

export const STATES: readonly (readonly [ObjectFilter['state'], string])[] = [
  ['', 'All'],
  ['due', 'Due for rotation'],
  ['reseal', 'Needs re-encryption'],
  ['unused', 'Without consumers'],
];

const HAS_STATE: Readonly<Record<ObjectFilter['state'], (object: ObjectMetadata) => boolean>> = {
  '': () => true,
  due: ({ rotation_due }) => rotation_due === true,
  reseal: ({ reseal }) => reseal !== undefined,
  unused: ({ used_by = [] }) => used_by.length === 0,
};

export function isSelected(object: ObjectMetadata, { text, tag, consumer, state }: ObjectFilter): boolean {
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
export const offer = (values: readonly string[], chosen: string): readonly (readonly [string, string])[] => [
  ['', 'All'],
  ...[...new Set(chosen === '' ? values : [...values, chosen])]
    .sort((a, b) => a.localeCompare(b))
    .map((value) => [value, value] as const),
];
