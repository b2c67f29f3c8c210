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
  ['due', 'due for rotation'],
  ['reseal', 'to be sealed anew'],
  ['unused', 'without consumers'],
];

const IS_IN: Readonly<Record<ObjectFilter['state'], (object: ObjectMetadata) => boolean>> = {
  '': () => true,
  due: ({ rotation_due }) => rotation_due === true,
  reseal: ({ reseal }) => reseal !== undefined,
  unused: ({ used_by = [] }) => used_by.length === 0,
};

export function isSelected(object: ObjectMetadata, { text, tag, consumer, state }: ObjectFilter): boolean {
  const wanted = text.trim().toLowerCase();
  return (
    (wanted === '' || [object.slug, object.description ?? ''].some((said) => said.toLowerCase().includes(wanted))) &&
    (tag === '' || object.tags.includes(tag)) &&
    (consumer === '' || (object.used_by ?? []).includes(consumer)) &&
    IS_IN[state](object)
  );
}

/** What there is to choose from; what is chosen stays, though nothing has it any more. */
export const offer = (values: readonly string[], chosen: string): readonly (readonly [string, string])[] => [
  ['', 'All'],
  ...[...new Set(chosen === '' ? values : [...values, chosen])]
    .sort((a, b) => a.localeCompare(b))
    .map((value) => [value, value] as const),
];
