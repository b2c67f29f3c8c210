import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { requireAnswer } from '../answers.js';
import { secrets } from './client.js';
import { ConfirmButton } from '../shell/confirm-button.js';
import { Field } from '../shell/field.js';
import { Form } from '../shell/form.js';
import { say } from '../shell/toasts.js';
import { linkTo, placeOf, SLUG_PATTERN } from './objects.js';
import type { ObjectMetadata } from './objects.js';

interface ObjectActionsProps {
  readonly object: ObjectMetadata;
  readonly onDeleted: () => Promise<void>;
}

export function ObjectActions({ object, onDeleted }: ObjectActionsProps) {
  const { route } = useLocation();
  const [slug, setSlug] = useState(object.slug);
  const params = placeOf(object);
  const rename = async (): Promise<void> => {
    requireAnswer(await secrets.PATCH('/objects/{slug}', { params, body: { slug } }));
    say(`“${object.slug}” renamed to “${slug}”.`);
    route(linkTo({ slug }), true);
  };
  const remove = async (): Promise<void> => {
    requireAnswer(await secrets.DELETE('/objects/{slug}', { params }));
    await onDeleted();
    say(`Secret “${object.slug}” deleted.`);
  };
  return (
    <>
      <details class="fold">
        <summary>Rename</summary>
        <Form verb="Rename" onSave={rename}>
          <Field
            label="New name"
            required
            maxLength={128}
            pattern={SLUG_PATTERN}
            autoComplete="off"
            value={slug}
            onValue={setSlug}
          />
        </Form>
      </details>
      <div class="row wrapping">
        <a
          class="button"
          href={`/secrets/objects/${encodeURIComponent(object.slug)}?id=${object.id}`}
          download={`${object.slug}.age`}
        >
          Download encrypted
        </a>
        <ConfirmButton class="danger" label={`Delete ${object.slug}`} question="Delete permanently" onAct={remove}>
          Delete
        </ConfirmButton>
      </div>
    </>
  );
}
