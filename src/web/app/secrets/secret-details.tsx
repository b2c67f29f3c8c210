import type { ComponentChildren } from 'preact';
import { formatDateTime } from '../ui/times.js';
import { formatActor } from './format-actor.js';
import { linkToConsumer, linkToTag } from './secrets.js';
import type { ObjectMetadata } from './secrets.js';

interface FactsProps {
  readonly object: ObjectMetadata;
  /** Whether the owner is a recipient; `undefined` when the recipients are not recorded. */
  readonly isReadable: boolean | undefined;
}

/** The metadata of a secret. */
export function SecretDetails({ object, isReadable }: FactsProps) {
  const { description, tags, used_by = [], created_at, created_by, updated_at, updated_by } = object;
  const facts: readonly (readonly [string, ComponentChildren])[] = [
    ['Description', description],
    ['Consumers', used_by.length === 0 ? 'none' : links(used_by, linkToConsumer)],
    ['Tags', tags.length === 0 ? 'none' : links(tags, linkToTag)],
    ['Readable by', describeReaders(object, isReadable)],
    ['Created', created_at && `${formatDateTime(created_at)} by ${formatActor(created_by?.type, created_by?.id)}`],
    ['Value set', updated_at && `${formatDateTime(updated_at)} by ${formatActor(updated_by?.type, updated_by?.id)}`],
    ['Rotation', describeRotation(object)],
    ['ID', object.id],
  ];
  return (
    <dl class="facts">
      {facts.map(([name, value]) =>
        value === undefined ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
      )}
    </dl>
  );
}

function links(names: readonly string[], link: (name: string) => string): ComponentChildren {
  return names.map((name, index) => (
    <>
      {index > 0 && ', '}
      <a href={link(name)}>{name}</a>
    </>
  ));
}

function describeReaders({ recipient_count: count }: ObjectMetadata, isReadable: boolean | undefined): string {
  const keys = count === 1 ? 'one key' : `${count} keys`;
  if (isReadable === undefined) return keys;
  if (count === 1) return isReadable ? 'only your key' : 'one key, not yours';
  return `${keys}, ${isReadable ? 'including yours' : 'not including yours'}`;
}

function describeRotation({ rotate_after_days: days, rotation_due_at: due, rotation_due }: ObjectMetadata): string {
  if (days === undefined || due === undefined) return 'not scheduled';
  const cycle = days === 1 ? 'every day' : `every ${days} days`;
  return `${cycle}, ${rotation_due === true ? 'due since' : 'due on'} ${formatDateTime(due)}`;
}
