//! Problems of overlays (05xx).

super::table! {
    OVERLAY = "E0501", "This overlay cannot be applied", "
An overlay is a document with `overlay: 1.0.0` (or another version of 1), `info`, and `actions`. This one is not applied
at all, so the document that it should change is not compiled: what an overlay removes must not become a tool.

    overlay: 1.0.0
    info: {title: For agents, version: 1.0.0}
    actions:
      - target: $.paths['/internal']
        remove: true
";
    ACTION = "E0502", "An action of an overlay cannot be applied", "
An action needs a `target`, a JSONPath (RFC 9535), and one of `update`, `remove: true` and `copy`. A merged value must
have the same type as its target: an object into an object, an array or one more item into an array, a scalar replacing
another one. The document is not compiled: what an action removes must not become a tool.

To replace a value with one of another type, remove it in one action and add the new one in the next.

    - target: paths./pets                  write: $.paths['/pets']
";
    NO_TARGET = "W0503", "The target of an overlay action does not exist", "
The target matches nothing in the document, so the action does nothing. Usually that is a typo, or the document has
changed since the overlay was written. Names are case-sensitive.

    - target: $.paths['/Pets'].get         but the path is /pets
";
    OTHER_DOCUMENT = "N0505", "An overlay is for another document", "
The `extends` key of the overlay names the document that it changes, and this is another one, so it is not applied.
Without `extends`, or with a URL there, it is applied to each document that is compiled with it.

    extends: ./api.yaml                  a file, from the overlay
";
    NO_CHANGE = "W0504", "An action of an overlay changes nothing", "
The action has a target but no change, or what it would add is removed. The format allows both, but usually the action
is unfinished.

    - target: $.info                       add update: {title: Pets}
    - {target: $.x, remove: true, update: {a: 1}}      remove one of them
";
}
