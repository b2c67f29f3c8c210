import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { requireData } from '../api-errors.js';
import { secretsClient } from './client.js';
import { ConfirmButton } from '../ui/confirm-button.js';
import { Field } from '../ui/field.js';
import { Form } from '../ui/form.js';
import { showToast } from '../ui/toasts.js';
import { linkToSecret, locateSecret, SLUG_PATTERN } from './secrets.js';
import type { ObjectMetadata } from './secrets.js';

interface ObjectActionsProps {
  readonly object: ObjectMetadata;
  readonly onDeleted: () => Promise<void>;
}

export function SecretActions({ object, onDeleted }: ObjectActionsProps) {
  const { route } = useLocation();
  const [slug, setSlug] = useState(object.slug);
  const params = locateSecret(object);
  const rename = async (): Promise<void> => {
    requireData(await secretsClient.PATCH('/objects/{slug}', { params, body: { slug } }));
    showToast(`“${object.slug}” renamed to “${slug}”.`);
    route(linkToSecret({ slug }), true);
  };
  const remove = async (): Promise<void> => {
    requireData(await secretsClient.DELETE('/objects/{slug}', { params }));
    await onDeleted();
    showToast(`Secret “${object.slug}” deleted.`);
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
