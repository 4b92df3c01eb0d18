"""Chat templates: how a prompt's parts are set into a model's turns, with markers and texts kept apart.

A model's own template is a program (jinja) that pastes texts between markers; text that spells a marker would be read
as one. So localville knows families of templates instead, recognised by their markers, and renders a prompt as
*pieces*: only our markers are tokenised as such, and ``<|im_end|>`` written by a persona or a visitor stays plain text.
"""

from __future__ import annotations

from dataclasses import dataclass

from localville.llm.engine import Part, Prompt, Role


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of text that is tokenised by itself; ``marker`` says whether special tokens in it are read as such."""

    text: str
    marker: bool


@dataclass(frozen=True, slots=True)
class Block:
    """What one prompt part becomes: the markers before it and its text. The unit of prefix reuse."""

    name: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Template:
    """A family of chat templates: what opens and what closes a turn. ``{role}`` stands for the role's name."""

    name: str
    sign: str
    """The marker by which the family is recognised in a GGUF's ``tokenizer.chat_template``."""
    opening: str
    closing: str
    assistant: str = "assistant"
    system: str = "system"
    """The role under which system text is put; Gemma has none and reads it in the user's turn."""

    def open(self, role: Role) -> str:
        names = {Role.SYSTEM: self.system, Role.USER: "user", Role.ASSISTANT: self.assistant}
        return self.opening.format(role=names[role])

    def same_turn(self, one: Role, other: Role) -> bool:
        return one is other or (self.system == "user" and {one, other} == {Role.SYSTEM, Role.USER})


TEMPLATES = (
    Template("chatml", "<|im_start|>", "<|im_start|>{role}\n", "<|im_end|>\n"),
    Template("llama3", "<|start_header_id|>", "<|start_header_id|>{role}<|end_header_id|>\n\n", "<|eot_id|>"),
    Template("gemma", "<start_of_turn>", "<start_of_turn>{role}\n", "<end_of_turn>\n", "model", "user"),
)
PLAIN = Template("plain", "", "### {role}\n", "\n\n")
"""For models without a template, or with one of an unknown family: headings, as base models know them from the web."""


def detect(source: str | None) -> Template:
    """Recognises the family of a chat template by its markers; PLAIN for none or an unknown one."""
    return next((template for template in TEMPLATES if source and template.sign in source), PLAIN)


def blocks(prompt: Prompt, template: Template) -> list[Block]:
    """Renders a prompt for an answer to follow: one block a part, with the assistant's turn opened at the end."""
    rendered = _parts(prompt.parts, template)
    last = prompt.parts[-1].role
    if last in (Role.SYSTEM, Role.USER):
        end = Piece(template.closing + template.open(Role.ASSISTANT), marker=True)
        rendered[-1] = Block(rendered[-1].name, (*rendered[-1].pieces, end))
    return rendered


def framed(prompt: Prompt, framing: str, template: Template) -> tuple[list[Block], str]:
    """Renders all parts but the last, then the framing in the last part's role; returns that and the last part's text.

    The turn stays open: what is scored is how the last part's text goes on from the framing.
    """
    *before, situation = prompt.parts
    return _parts((*before, Part("framing", framing, situation.role)), template), situation.text


def _parts(parts: tuple[Part, ...], template: Template) -> list[Block]:
    rendered: list[Block] = []
    role: Role | None = None
    for part in parts:
        markers = ""
        # A closing marker belongs to the block behind it: what closes a turn is the next part's role.
        if part.role is not Role.TEXT and (role is None or not template.same_turn(role, part.role)):
            markers = (template.closing if role else "") + template.open(part.role)
        role = part.role
        pieces = [Piece(markers, marker=True), Piece(part.text, marker=False)]
        rendered.append(Block(part.name, tuple(piece for piece in pieces if piece.text)))
    return rendered
