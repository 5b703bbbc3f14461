"""Laws of contact: pair distance and walls, restitution, masses, with their posterior."""

from comotion.contacts.bounce import Bounce, BounceLaw, Scatter
from comotion.contacts.describe import describe_contacts
from comotion.contacts.law import NO_WALL, ContactLaw, Contacts, PlaneLaw, SphereLaw
from comotion.contacts.make import (
    Parts,
    Plane,
    Restitution,
    Softness,
    Sphere,
    box,
    contact_law,
    polygon,
)
from comotion.contacts.outline import Outline, outline
from comotion.contacts.posterior import Gaussian, gaussian
from comotion.contacts.shape import ContactShape, blank_law, contact_shape
from comotion.contacts.springs import SpringLaw, Springs
from comotion.contacts.surfaces import AbstractSurfaces, Planes, Spheres

__all__ = [
    "NO_WALL",
    "AbstractSurfaces",
    "Bounce",
    "BounceLaw",
    "ContactLaw",
    "ContactShape",
    "Contacts",
    "Gaussian",
    "Outline",
    "Parts",
    "Plane",
    "PlaneLaw",
    "Planes",
    "Restitution",
    "Scatter",
    "Softness",
    "Sphere",
    "SphereLaw",
    "Spheres",
    "SpringLaw",
    "Springs",
    "blank_law",
    "box",
    "contact_law",
    "contact_shape",
    "describe_contacts",
    "gaussian",
    "outline",
    "polygon",
]
